# frozen_string_literal: true

Rails.application.routes.draw do
  root "topics#index"

  resources :topics, only: %i[index show new create] do
    resources :posts, only: :create
    get :live, on: :member, to: "live#show"
  end
  resources :attachments, only: :show
end
