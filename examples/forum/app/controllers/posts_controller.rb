# frozen_string_literal: true

class PostsController < ApplicationController
  def create
    @topic = Topic.find(params[:topic_id])
    @post = @topic.posts.build(params.require(:post).permit(:author, :body, :upload))
    return redirect_to(topic_path(@topic, page: last_page, anchor: "post-#{@post.id}")) if @post.save

    @posts = @topic.posts_on(page)
    render "topics/show", status: :unprocessable_entity
  end

  private

  # Without its number in the address where it is the only one.
  def last_page
    pages = @topic.pages
    pages if pages > 1
  end
end
